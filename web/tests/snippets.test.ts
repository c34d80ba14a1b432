import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { environment, languages } from "@/features/start/snippets";

const FOLDER = `${import.meta.dirname}/../../docs/snippets`;
const COMMENTS: Record<string, string> = { python: "#", typescript: "//" };

const shown = languages("http://localhost:8787", "KEY").flatMap(({ id, snippets }) =>
  snippets.filter((one) => one.install).map((one) => `${COMMENTS[id]} ${one.install}\n${one.code}`),
);

test("the page shows every file in docs/snippets as it is, and nothing else", () => {
  const files = readdirSync(FOLDER).map((name) => readFileSync(`${FOLDER}/${name}`, "utf8"));
  expect(shown.toSorted()).toEqual(files.toSorted());
});

test("endpoint and key are environment variables", () => {
  const variables = environment("http://localhost:8787", "KEY");
  expect(variables).toContain("OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:8787/api/otlp");
  expect(variables).toContain("OTEL_EXPORTER_OTLP_HEADERS=x-api-key=KEY");
});
