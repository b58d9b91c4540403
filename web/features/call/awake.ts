/**
 * Keeps the screen on until `left` aborts, where the browser can. It lets go of the screen when the
 * page goes out of view, so one that comes back asks again.
 */
export function stayAwake(left: AbortSignal): void {
  let lock: WakeLockSentinel | null = null
  const ask = async () => {
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return
    // A battery that is nearly empty refuses.
    lock = await navigator.wakeLock.request('screen').catch(() => null)
    if (left.aborted) void lock?.release()
  }
  document.addEventListener('visibilitychange', () => void ask(), { signal: left })
  left.addEventListener('abort', () => void lock?.release())
  void ask()
}
