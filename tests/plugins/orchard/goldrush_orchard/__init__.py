"""An arena: how far apart should trees stand, and how much should they be watered?"""
