/** The server's own limits (contract, section 3). */
export const IMAGES_MAX = 8
const IMAGE_BYTES_MAX = 10 * 1024 * 1024

export const isImage = (file: File): boolean =>
  file.type.startsWith('image/') && file.size <= IMAGE_BYTES_MAX

/** A `data:image/...;base64` URL, which is what the agent takes. */
export const toDataUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
