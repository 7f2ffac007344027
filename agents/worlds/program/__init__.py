"""Programs that ask servers, and what stands between them: a proxy on this machine."""
