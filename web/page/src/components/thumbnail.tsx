/** An image of a grid. Its file is read once it comes into view. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Image, largestOf, thumbnailOf } from "../images";
import { text } from "../text";
import { useImage } from "../use-image";

interface Props {
  jobId: string;
  image: Image;
  /** The alternative text. */
  name: string;
  onOpen: () => void;
}

export function Thumbnail({ jobId, image, name, onOpen }: Props) {
  const t = text.images;
  const [box, isSeen] = useIsSeen();
  const file = thumbnailOf(image);
  const { url, isMissing } = useImage(jobId, isSeen ? file?.name : undefined);
  const largest = largestOf(image);
  return (
    <button
      ref={box}
      type="button"
      class="thumbnail"
      aria-label={t.open(name)}
      disabled={!largest || isMissing}
      onClick={onOpen}
    >
      <span class="picture">
        {url && <img src={url} alt={name} decoding="async" />}
        {!url && <span class="quiet small">{isMissing || !file ? t.missing : ""}</span>}
      </span>
      <span class="small">{t.item(image.item)}</span>
      <span class="quiet small">{largest ? t.size(largest.width, largest.height) : t.noFiles}</span>
    </button>
  );
}

/** Returns a box, and true once it was near the visible part of the page. */
function useIsSeen() {
  const box = useRef<HTMLButtonElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    if (!box.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        setIsSeen(true);
        observer.disconnect();
      },
      { rootMargin: "200px" },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, isSeen] as const;
}
