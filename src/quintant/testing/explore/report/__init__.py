"""What came of an exploration, for people and for the programs that show it.

exploration         the report of a scenario on our runtime, in lines for people
findings            the same of any exploration, as a value that every format is made of
junit, sarif        for the pages of CI, and for those of code scanning
lanes, html         who did what in a run, side by side; one page that needs nothing else
"""
