import { type RefObject, useRef } from 'react'

interface FileInputProps {
  readonly field: RefObject<HTMLInputElement | null>
  readonly label: string
  readonly multiple?: boolean
  /** The kinds that the browser offers; by default all. */
  readonly accept?: string | undefined
  readonly onFiles: (files: readonly File[]) => void
}

/** `open` shows the browser's file chooser for a `FileInput`. */
export function useFileInput() {
  const field = useRef<HTMLInputElement>(null)
  return { field, open: () => field.current?.click() }
}

/** The hidden field behind a button that chooses files. */
export function FileInput({ field, label, multiple = false, accept, onFiles }: FileInputProps) {
  return (
    <input
      ref={field}
      type="file"
      multiple={multiple}
      accept={accept}
      className="hidden"
      aria-label={label}
      onChange={({ target }) => {
        const files = [...(target.files ?? [])]
        target.value = ''
        if (files.length > 0) onFiles(files)
      }}
    />
  )
}
