/** Texts of the images of a job. */

import { number } from "./format";

export const imagesText = {
  images: {
    title: "Images",
    of: (item: number, source: string | null) =>
      source === null ? `Image ${number(item)}` : `Image ${number(item)} of ${source}`,
    open: (name: string) => `Open ${name}`,
    size: (width: number, height: number) => `${number(width)} × ${number(height)}`,
    noFiles: "No files",
    missing: "This image cannot be shown.",
    loading: "Loading...",
    close: "Close",
    save: "Download",
    failed: "Images that failed",
    item: (item: number) => `Image ${number(item)}`,
    /** Reasons by code. A colon at the end asks for the API's own sentence. */
    reasons: {
      not_an_image: "The file is not a JPEG, PNG or WebP image.",
      image_too_large: "The file is too large:",
      image_dimensions: "The image has too many pixels:",
      image_damaged: "The image is damaged:",
      not_found: "There is no image at this address.",
      url_invalid: "This is not an address of an image:",
      url_not_allowed: "This address is not on the public internet:",
    } as Record<string, string>,
  },
};
