"""Programs: simulations of somebody else, recorded by the requests that they send to servers."""
