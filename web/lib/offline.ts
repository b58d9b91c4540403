/** Opens the console also while its server is away; only pages of https or this machine can. */
export function keepShell(): void {
  if ('serviceWorker' in navigator) {
    navigator.serviceWorker.register('/sw.js', { scope: '/app' }).catch(() => {})
  }
}
