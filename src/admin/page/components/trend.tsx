import type { VNode } from "preact";

const WIDTH = 4;
const HEIGHT = 24;

/** Bars of counts over time, the last one last. `label` says what they show. */
export function trend(counts: readonly number[], label: string): VNode {
  const most = Math.max(1, ...counts);
  return (
    <svg class="trend" viewBox={`0 0 ${counts.length * WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {counts.map((count, index) => {
        const height = count === 0 ? 0 : Math.max(3, (count / most) * HEIGHT);
        return <rect key={index} x={index * WIDTH} y={HEIGHT - height} width={WIDTH - 1} height={height} />;
      })}
    </svg>
  );
}
