// A process map in the web app: the component of all pages.

import { mountMap } from "travas-maps/map.js";

export default {
  template: '<div class="travas-map"></div>',
  props: { model: Object, name: String },
  mounted() { this.view = mountMap(this.$el, this.model, { name: this.name }); },
  unmounted() { this.view.observer.disconnect(); },
};
