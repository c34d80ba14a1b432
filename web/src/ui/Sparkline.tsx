/** A trend line without axes. Gaps stay gaps; a value between two of them is a dot. */
interface Props {
  values: (number | null)[];
  colour?: string;
  width?: number;
  height?: number;
  /** Off for rates near 1, which would be flat if drawn from zero. */
  fromZero?: boolean;
}

export function Sparkline({
  values,
  colour = "var(--measure-1)",
  width = 120,
  height = 28,
  fromZero = true,
}: Props) {
  const present = values.filter((value): value is number => value !== null);
  if (present.length < 2) return <div style={{ height }} />;
  const [low, high] = [
    fromZero ? Math.min(0, ...present) : Math.min(...present),
    Math.max(...present),
  ];
  const x = (index: number) => (index / (values.length - 1)) * width;
  const y = (value: number) => height - 2 - ((value - low) / (high - low || 1)) * (height - 4);
  let path = "";
  values.forEach((value, index) => {
    if (value === null) return;
    const isStart = index === 0 || values[index - 1] === null;
    path += `${isStart ? "M" : "L"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    // A line of no length is drawn as a dot, because of its round ends.
    if (isStart && (values[index + 1] ?? null) === null) path += "h0";
  });
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="block w-full overflow-visible"
      style={{ height }}
    >
      <path
        d={path}
        fill="none"
        stroke={colour}
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
