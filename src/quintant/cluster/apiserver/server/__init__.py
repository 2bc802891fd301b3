"""The front door: HTTPS, `ApiServer`, its admission plugins and its handler chain."""
