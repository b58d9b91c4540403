/** Files that are imported as text. */
declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.svg' {
  const text: string
  export default text
}

/** An import with `type: 'file'`: the bundler embeds the file and gives its path. */
declare module 'wasm-media-encoders/wasm/mp3' {
  const path: string
  export default path
}

declare module '@hyzyla/pdfium/pdfium.wasm' {
  const path: string
  export default path
}
