"""A host of images: the files of a folder, and answers that are no images."""
import os

busy = {"left": 1}


def application(environ, start_response):
    def answer(status, body=b"", **headers):
        start_response(status, [(name.replace("_", "-"), value) for name, value in headers.items()])
        return [body]

    name = environ["PATH_INFO"].lstrip("/")
    if name == "busy" and busy["left"]:
        busy["left"] -= 1
        return answer("503 Service Unavailable", Retry_After="1")
    if name == "busy":
        name = "progressive.jpg"
    if name == "moved":
        return answer("302 Found", Location="/lossy.webp")
    if name == "metadata":
        return answer("302 Found", Location="https://169.254.169.254/latest/meta-data/")
    if name == "page.jpg":
        return answer("200 OK", b"<!doctype html><title>No image</title>")
    path = os.path.join(os.environ["IMAGES"], name)
    if not os.path.isfile(path):
        return answer("404 Not Found")
    with open(path, "rb") as file:
        content = file.read()
    if name == "cmyk.jpg":
        content = content[: len(content) // 2]
    return answer("200 OK", content)
