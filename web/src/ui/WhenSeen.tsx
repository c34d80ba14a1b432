import { type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  /** The height of the content, which the space for it has until then. */
  height: number;
  children: ReactNode;
}

/** Renders its content, which sends its requests, once it has been scrolled into view. */
export function WhenSeen({ height, children }: Props) {
  const space = useRef<HTMLDivElement>(null);
  const [isSeen, setIsSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    if (isSeen || !space.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setIsSeen(true),
    );
    observer.observe(space.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen ? children : <div ref={space} style={{ height }} />;
}
