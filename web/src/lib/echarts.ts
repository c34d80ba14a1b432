/** Only the parts of ECharts that are drawn with; this module is a chunk of its own. */
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, MarkLineComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart,
  LineChart,
  ScatterChart,
  CustomChart,
  GridComponent,
  MarkLineComponent,
  MarkAreaComponent,
  CanvasRenderer,
]);

export { init };
