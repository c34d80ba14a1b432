/** Fails when a source file is longer than 250 lines. Biome's own rule does not count JSX text. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAX_LINES = 250;
const cwd = fileURLToPath(new URL("..", import.meta.url));

const tooLong = globSync("{src,tests,scripts}/**/*.{ts,tsx,css,mjs}", { cwd })
  .filter((path) => !path.endsWith(".gen.ts"))
  .map((path) => ({ path, lines: readFileSync(`${cwd}/${path}`, "utf8").split("\n").length - 1 }))
  .filter(({ lines }) => lines > MAX_LINES);

for (const { path, lines } of tooLong) {
  console.error(`${path} has ${lines} lines, more than ${MAX_LINES}: split it.`);
}
process.exitCode = tooLong.length > 0 ? 1 : 0;
