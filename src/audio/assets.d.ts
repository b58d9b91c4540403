/** An import with `type: 'file'`: the bundler embeds the file and gives its path. */
declare module 'wasm-media-encoders/wasm/mp3' {
  const path: string
  export default path
}
