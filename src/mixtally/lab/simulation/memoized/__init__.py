"""Memoized answers: randomized once per value, then reported repeatedly.

This package computes the privacy losses and the counts of memoized answers, and makes the document
that shows both. A *permanent response* is the answer that a device randomizes once and stores. A
*report* randomizes this response again. A *cohort* is a group of people with the same hash
functions.
"""
