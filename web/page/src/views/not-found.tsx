/** The view of an unknown address. */

import { text } from "../text";

export function NotFound() {
  return (
    <section class="card narrow center">
      <h1>{text.notFound.title}</h1>
      <p class="quiet">{text.notFound.body}</p>
      <a href="/">{text.notFound.home}</a>
    </section>
  );
}
