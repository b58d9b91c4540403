/** A decorative moon in the colours of the theme. */
export function Backdrop() {
  return (
    <svg
      className="pointer-events-none absolute inset-0 size-full text-ink opacity-[0.05]"
      viewBox="0 0 1200 800"
      preserveAspectRatio="xMidYMid slice"
      aria-hidden
    >
      <circle cx="600" cy="1180" r="760" fill="currentColor" />
      <circle cx="600" cy="1180" r="860" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <circle cx="600" cy="1180" r="980" fill="none" stroke="currentColor" strokeWidth="1" />
      <circle cx="1010" cy="150" r="34" fill="currentColor" />
      <circle cx="190" cy="240" r="3" fill="currentColor" />
      <circle cx="330" cy="110" r="2" fill="currentColor" />
      <circle cx="860" cy="300" r="2.5" fill="currentColor" />
    </svg>
  )
}
