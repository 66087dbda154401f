"""What an agent is sent: views over slots, the window kept of them, strategies, and the compiled request."""
