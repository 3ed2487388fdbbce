// A native file input in a drop zone: the file is sent with its progress and speed, and can be cancelled.
const megabytes = (bytes) => (bytes / 1048576).toFixed(bytes < 10485760 ? 1 : 0) + " MB";

export default {
  template: `
    <div>
      <div class="drop-zone">
        <label :for="fieldId"><strong>{{ label }}</strong><span>{{ hint }}</span></label>
        <input :id="fieldId" ref="field" type="file" :accept="accept" :disabled="sending" @change="choose" />
      </div>
      <div v-if="sending" class="drop-progress">
        <progress :value="share" max="1" aria-label="upload"></progress>
        <span role="status">{{ words }}</span>
        <button type="button" class="plain-button" @click="cancel">Cancel the upload</button>
      </div>
    </div>`,
  props: { label: String, hint: String, accept: String, address: String, headers: Object, keyHeader: String, storedKey: String, limit: Number },
  emits: ["refused"],
  data() {
    return { sending: false, share: 0, words: "", fieldId: "file-" + Math.random().toString(36).slice(2) };
  },
  beforeUnmount() {
    this.cancel();
  },
  methods: {
    choose() {
      const file = this.$refs.field.files[0];
      this.$refs.field.value = "";
      if (!file) return;
      if (file.size > this.limit) this.$emit("refused", "over the limit");
      else this.send(file);
    },
    send(file) {
      const request = new XMLHttpRequest(), begun = performance.now();
      this.request = request;
      this.sending = true;
      this.tell(0, file.size, begun);
      request.upload.onprogress = (event) => this.tell(event.loaded, file.size, begun);
      request.upload.onload = () => (this.words = "reading the columns …");
      request.onloadend = () => (this.sending = false);
      request.onerror = () => this.$emit("refused", "the connection was lost");
      request.open("POST", this.address + (this.address.includes("?") ? "&" : "?") + "name=" + encodeURIComponent(file.name));
      request.setRequestHeader(this.keyHeader, localStorage.getItem(this.storedKey));
      for (const [name, value] of Object.entries(this.headers || {})) request.setRequestHeader(name, value);
      request.send(file);
    },
    tell(sent, size, begun) {
      const seconds = (performance.now() - begun) / 1000;
      const speed = seconds > 0.2 ? ", " + megabytes(sent / seconds) + " per second" : "";
      this.share = size ? sent / size : 0;
      this.words = megabytes(sent) + " of " + megabytes(size) + speed;
    },
    cancel() {
      if (this.sending) this.request.abort();
    },
  },
};
