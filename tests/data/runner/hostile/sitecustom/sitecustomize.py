import os

with open("stolen", "wb") as file:
    file.write(os.read(0, 100))
