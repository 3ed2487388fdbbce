// The table of traces: AG Grid with folded chevrons and interval bars. All text is set as text, never as HTML.

import * as AgGrid from "nicegui-aggrid";

const MOST_CHEVRONS = 10;
const whole = new Intl.NumberFormat("en").format, one = new Intl.NumberFormat("en", { maximumFractionDigits: 1 }).format;

const make = (name, className, text = "") => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};

// A trace with repetitions folded: [[activity, times], …].
export function folded(trace) {
  const runs = [];
  for (const activity of trace) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] === activity) last[1] += 1;
    else runs.push([activity, 1]);
  }
  return runs;
}

export default {
  template: '<div><div class="table-tools"></div><div class="table-grid"></div></div>',
  props: { rows: Array, names: Array, colours: Array, columns: Object },
  mounted() {
    AgGrid.ModuleRegistry.registerModules([AgGrid.AllCommunityModule]);
    const [tools, place] = this.$el.children;
    const search = make("input", "search");
    Object.assign(search, { type: "search", placeholder: "part of a name", autocomplete: "off" });
    const label = make("label", "", "Search ");
    label.append(search);
    const found = make("span", "found");
    found.setAttribute("role", "status");
    tools.append(label, found);
    const shade = () => place.setAttribute("data-ag-theme-mode", document.body.classList.contains("body--dark") ? "dark" : "light");
    this.observer = new MutationObserver(shade);
    this.observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    shade();
    this.api = AgGrid.createGrid(place, this.options());
    search.addEventListener("input", () => this.api.setGridOption("quickFilterText", search.value));
    this.api.addEventListener("modelUpdated", () => {
      found.textContent = `${whole(this.api.getDisplayedRowCount())} of ${whole(this.rows.length)}`;
    });
    found.textContent = `${whole(this.rows.length)} of ${whole(this.rows.length)}`;
  },
  unmounted() {
    this.observer.disconnect();
    this.api.destroy();
  },
  methods: {
    options() {
      const most = Math.max(...this.rows.map((row) => Math.max(row.value, row.high ?? 0)), 1);
      const columns = [
        { headerName: "#", valueGetter: (params) => params.node.sourceRowIndex + 1, width: 70, type: "rightAligned", getQuickFilterText: () => "" },
        { headerName: this.columns.value, field: "value", width: 150, sort: "desc", type: "rightAligned", valueFormatter: ({ value }) => one(value), getQuickFilterText: () => "" },
        {
          headerName: "Variant", flex: 1, minWidth: 220, valueGetter: ({ data }) => data.trace.map((place) => this.names[place]).join(" → "),
          cellRenderer: ({ data, value }) => this.chevrons(data.trace, value), sortable: false,
        },
      ];
      if (this.columns.interval) {
        columns.splice(2, 0, {
          headerName: this.columns.interval, width: 190, valueGetter: ({ data }) => data.low, getQuickFilterText: () => "",
          cellRenderer: ({ data }) => this.interval(data, most),
        });
      }
      for (const name of ["rule", "origin", "count"].filter((column) => this.columns[column])) {
        columns.push({ headerName: this.columns[name], field: name, width: 130, type: name === "count" ? "rightAligned" : undefined, getQuickFilterText: () => "",
          valueFormatter: ({ value }) => (typeof value === "number" ? whole(value) : value) });
      }
      return {
        theme: AgGrid.themeQuartz.withPart(AgGrid.colorSchemeVariable), columnDefs: columns, rowData: this.rows, rowHeight: 34,
        defaultColDef: { resizable: true, sortable: true, wrapHeaderText: true, autoHeaderHeight: true }, suppressColumnVirtualisation: true,
        rowBuffer: 4, animateRows: false, suppressRowHoverHighlight: true,
      };
    },
    chevrons(trace, names) {
      const box = make("span", "chevrons"), runs = folded(trace);
      box.title = names;
      for (const [activity, times] of runs.slice(0, MOST_CHEVRONS)) {
        const chevron = make("span", "chevron", times > 1 ? `${this.names[activity]} ×${times}` : this.names[activity]);
        chevron.style.backgroundColor = this.colours[activity];
        box.append(chevron);
      }
      if (runs.length > MOST_CHEVRONS) box.append(make("span", "more", `+${runs.length - MOST_CHEVRONS}`));
      return box;
    },
    interval({ value, low, high }, most) {
      const box = make("span", "interval"), bar = make("span", "bar"), line = make("span", "whisker");
      const text = make("span", "numbers", `${whole(low)} – ${whole(high)}`);
      bar.style.width = `${100 * value / most}%`;
      line.style.left = `${100 * low / most}%`;
      line.style.width = `${100 * (high - low) / most}%`;
      box.append(bar, line, text);
      return box;
    },
  },
};
