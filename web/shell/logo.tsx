/** The logo: a crescent over a base line. */
function Logo() {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden>
      <path
        d="M15.5 3.2a8.6 8.6 0 1 0 5.3 13.1A7.4 7.4 0 0 1 15.5 3.2Z"
        fill="currentColor"
        className="text-ink"
      />
      <circle cx="18.2" cy="6.6" r="1.5" fill="currentColor" className="text-accent" />
    </svg>
  )
}

export function Brand() {
  return (
    <span className="flex items-center gap-2.5 font-semibold tracking-tight">
      <Logo />
      Moonbase
    </span>
  )
}
