import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const OUT = fileURLToPath(new URL("../src/spanwise/web_dist", import.meta.url));

/** Writes compressed copies of text files, so that the service need not compress them. */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    writeBundle(_options, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue;
        const body = readFileSync(`${OUT}/${name}`);
        if (body.length < 1024) continue;
        writeFileSync(`${OUT}/${name}.gz`, gzipSync(body, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        writeFileSync(`${OUT}/${name}.br`, brotliCompressSync(body, { params: quality }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwind(), compress()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would be data: URLs, which the content security policy blocks.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8787" },
    // The snippets of the page "Get started" are in ../docs.
    fs: { allow: [".."] },
  },
  // By default one core of two is left idle.
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"], maxWorkers: "100%" },
});
