/** Texts of the images of a job. */

import { number, type RowNumbers, rowNumbers } from "./format";

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
    failedItem: (failure: RowNumbers) => `Image ${rowNumbers(failure)}`,
    /** Reasons by code. A colon at the end asks for the API's own sentence. */
    reasons: {
      not_an_image: "The file is not an image.",
      image_unsupported: "The file is an image of another type than JPEG, PNG and WebP:",
      image_too_large: "The file is too large:",
      image_dimensions: "The image has too many pixels:",
      image_damaged: "The image is damaged:",
      not_found: "There is no image at this address.",
      access_denied: "The server does not let us read this image:",
      unexpected_status: "The server answered without a file:",
      too_many_redirects: "The address redirects too often:",
      bad_response: "The server's answer is not readable:",
      url_missing: "There is no address of an image:",
      url_invalid: "This is not an address of an image:",
      url_not_allowed: "This address is not one that is read:",
      results_too_large: "The copies are too large together:",
      conversion_failed: "The image could not be converted:",
      retries_exhausted: "The image failed in every try:",
      handler_failed: "The image stopped its conversion:",
    } as Record<string, string>,
  },
};
