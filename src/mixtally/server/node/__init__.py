"""What every role that serves needs: a folder, keys, the notes it signed and knows, pieces, HTTP.

A mix and a collector are a ``node.Node`` each, with a loop of their own around it. Time comes in as
an argument; what is remembered is on disk, synced, before anybody hears of it. Nothing is loaded
here: a process of intake loads no file that can read a key.
"""
