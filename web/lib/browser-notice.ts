/** What the browser lets a page tell outside of it; null where it has no such thing. */
export const noticeRight = (): NotificationPermission | null =>
  typeof Notification === 'undefined' ? null : Notification.permission

/** Tells something beside the page, where the person has allowed it; once for each tag. */
export function tellBeside(tag: string, body: string): void {
  if (noticeRight() !== 'granted') return
  try {
    const notice = new Notification('Moonbase', { body, tag })
    notice.onclick = () => window.focus()
  } catch {
    // Chrome for Android has the class, but throws when a page makes one.
  }
}

/** Asks, as long as nothing was answered. */
export const askForNotices = (): Promise<unknown> =>
  noticeRight() === 'default' ? Notification.requestPermission() : Promise.resolve()
