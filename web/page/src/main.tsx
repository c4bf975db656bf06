import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/tables.css";
import "./styles/file.css";
import "./styles/types.css";
import "./styles/images.css";
import "./styles/operations.css";
import { render } from "preact";
import { App } from "./app";
import { keepPageOnDrop } from "./components/drop-zone";
import { applyTheme } from "./theme";

applyTheme();
keepPageOnDrop();
const root = document.getElementById("app");
if (root) render(<App />, root);
