"""The command line. Each command imports its packages when it runs, so that help is instant."""
