/** A hook that reads a file of an image with the user's token, and gives it an address of this page. */

import { useEffect, useState } from "preact/hooks";
import { api, guarded } from "./api";
import { isShown, limited, untilAllowed } from "./images";

/** Reads at a time: a grid must not use up the user's rate limit. */
const downloads = limited(4);

/** The address of the image; `isMissing` if it cannot be read or shown. */
export interface ShownImage {
  readonly url: string | null;
  readonly isMissing: boolean;
}

/** Reads a file; nothing while it has no name. */
export function useImage(jobId: string, name: string | undefined): ShownImage {
  const [image, setImage] = useState<ShownImage>({ url: null, isMissing: false });
  useEffect(() => {
    if (name === undefined) return;
    const stop = new AbortController();
    let url: string | null = null;
    const read = () => guarded(() => api.image(jobId, name, { signal: stop.signal }));
    // Waits within its place, so that the others do not use up the limit either.
    downloads(stop.signal, () => untilAllowed(stop.signal, read))
      .then((blob) => {
        if (stop.signal.aborted) return;
        url = isShown(blob) ? URL.createObjectURL(blob) : null;
        setImage({ url, isMissing: url === null });
      })
      .catch(() => !stop.signal.aborted && setImage({ url: null, isMissing: true }));
    return () => {
      stop.abort();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [jobId, name]);
  return image;
}
