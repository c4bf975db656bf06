/** The largest file of an image, in a dialog. */

import { useEffect, useRef } from "preact/hooks";
import { type Image, largestOf } from "../images";
import { text } from "../text";
import { useImage } from "../use-image";

interface Props {
  jobId: string;
  image: Image;
  name: string;
  onClose: () => void;
}

export function ImageDialog({ jobId, image, name, onClose }: Props) {
  const t = text.images;
  const dialog = useRef<HTMLDialogElement>(null);
  const file = largestOf(image);
  const { url, isMissing } = useImage(jobId, file?.name);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="image-dialog" aria-labelledby="image-title" onClose={onClose}>
      <h2 id="image-title">{name}</h2>
      <div class="picture" role="status">
        {url ? (
          <img src={url} alt={name} width={file?.width} height={file?.height} />
        ) : (
          <span class="quiet">{isMissing ? t.missing : t.loading}</span>
        )}
      </div>
      <div class="actions">
        {file && <span class="quiet small">{t.size(file.width, file.height)}</span>}
        {url && (
          <a class="button" href={url} download={file?.name}>
            {t.save}
          </a>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {t.close}
        </button>
      </div>
    </dialog>
  );
}
