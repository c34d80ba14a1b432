/** The menus of the trace list: which columns are shown, and downloads. */
import { Columns3, Download } from "lucide-react";
import { download } from "@/lib/api";
import { rangeQuery, useRange } from "@/lib/range";
import { exportPath } from "@/lib/traceFilters";
import { useSetUrl, useUrl } from "@/lib/url";
import { Menu, MenuCheck, MenuItem } from "@/ui/Menu";
import { toast } from "@/ui/Toast";
import { allColumns, DEFAULT_COLUMNS, useColumnIds } from "./columns";

const FORMATS = ["csv", "jsonl", "parquet"];

export default function TableMenus() {
  return (
    <>
      <ColumnMenu />
      <ExportMenu />
    </>
  );
}

function ColumnMenu() {
  const shown = useColumnIds();
  const setUrl = useSetUrl();
  const all = allColumns({ duration: 1, cost: 1 });
  const toggle = (id: string) => {
    const next = all
      .map((column) => column.id)
      .filter((one) => (one === id ? !shown.includes(id) : shown.includes(one)));
    const isDefault = next.join() === DEFAULT_COLUMNS.join();
    setUrl({ cols: isDefault || next.length === 0 ? undefined : next.join() });
  };
  return (
    <Menu
      ariaLabel="Columns"
      align="end"
      buttonClass="px-2"
      label={<Columns3 className="size-4" aria-hidden />}
    >
      {all.map(({ id, title }) => (
        <MenuCheck key={id} isChecked={shown.includes(id)} onChange={() => toggle(id)}>
          {title}
        </MenuCheck>
      ))}
    </Menu>
  );
}

function ExportMenu() {
  const url = useUrl();
  const range = useRange();
  const run = async (format: string) => {
    try {
      toast("Exporting…");
      await download(exportPath(url, rangeQuery(range), format));
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
    }
  };
  return (
    <Menu
      ariaLabel="Export"
      align="end"
      buttonClass="px-2"
      label={<Download className="size-4" aria-hidden />}
    >
      {FORMATS.map((format) => (
        <MenuItem key={format} onClick={() => void run(format)}>
          Export as {format.toUpperCase()}
        </MenuItem>
      ))}
    </Menu>
  );
}
