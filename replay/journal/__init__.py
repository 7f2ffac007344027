"""Reading and checking journals."""
