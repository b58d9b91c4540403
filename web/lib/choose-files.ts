/** What the browser offers; by default any files. */
interface Choice {
  readonly accept?: string
  /** A picture is taken with the camera, where the device has one. */
  readonly camera?: boolean
  /** All files of one folder. */
  readonly folder?: boolean
}

/** Shows the browser's file chooser. `onFiles` is called when something was chosen. */
export function chooseFiles(
  { accept = '', camera = false, folder = false }: Choice,
  onFiles: (files: readonly File[]) => void,
): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = accept
  input.multiple = !camera
  input.webkitdirectory = folder
  if (camera) input.setAttribute('capture', 'environment')
  input.addEventListener('change', () => onFiles([...(input.files ?? [])]))
  input.click()
}
