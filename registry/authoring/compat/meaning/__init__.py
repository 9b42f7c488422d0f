"""What two contracts mean, compared: op maps, places, images, value forms, rules; each difference with a message."""
