import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl } from "@/lib/url";
import { Input } from "./Field";

interface Props {
  label: string;
  placeholder: string;
}

/** The search of a list, in the URL parameter `search`; `/` focuses it. */
export function SearchBox({ label, placeholder }: Props) {
  const { search = "" } = useUrl();
  const setUrl = useSetUrl();
  const [text, setText] = useState(search);
  useEffect(() => setText(search), [search]);
  // Searches when typing pauses, not at every letter.
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => setUrl({ search: text || undefined }), 350);
    return () => clearTimeout(timer);
  }, [text, search, setUrl]);
  useShortcuts([{ keys: "/", what: label, run: () => document.getElementById("search")?.focus() }]);
  return (
    <div className="relative w-80 max-md:w-full">
      <Search
        className="pointer-events-none absolute top-2.5 left-2.5 size-3.5 text-faint"
        aria-hidden
      />
      <Input
        id="search"
        type="search"
        aria-label={label}
        title={placeholder}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="pl-8"
      />
    </div>
  );
}
