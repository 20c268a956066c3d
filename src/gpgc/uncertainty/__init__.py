"""What the posterior is good for: calibration, prediction sets, strangers, what to label next."""
