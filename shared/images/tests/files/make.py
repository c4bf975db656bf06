"""Writes the files of this folder with Pillow 13: kinds that the tests cannot write with the `image` crate."""

from PIL import Image

WIDTH, HEIGHT = 64, 48
# Quarters: red, green, blue, white.
COLORS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255))


def quarters(mode="RGB"):
    image = Image.new(mode, (WIDTH, HEIGHT))
    for index, color in enumerate(COLORS):
        left, top = (index % 2) * WIDTH // 2, (index // 2) * HEIGHT // 2
        alpha = (128,) if mode == "RGBA" and index == 3 else (255,)
        color = color + alpha if mode == "RGBA" else color
        image.paste(color, (left, top, left + WIDTH // 2, top + HEIGHT // 2))
    return image


black = Image.new("RGB", (WIDTH, HEIGHT))
quarters().save("progressive.jpg", progressive=True, quality=90)
quarters().convert("CMYK").save("cmyk.jpg", quality=90)
quarters().quantize(4).save("palette.png", transparency=0)
quarters().save("animated.png", save_all=True, append_images=[black], duration=100)
quarters().save("lossy.webp", quality=90)
quarters("RGBA").save("lossy-alpha.webp", quality=90)
quarters().save("animated.webp", save_all=True, append_images=[black], duration=100, quality=90)
