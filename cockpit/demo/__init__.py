"""The servers that the demo recipe runs: a chat that speaks MCPL, and a few tools that speak MCP. Both are real."""
