// The parts of Apache ECharts that pages use. Bundled by scripts/bundle_charts.sh.
import { init, use } from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent, GridComponent, LegendPlainComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart, DataZoomInsideComponent, GridComponent,
     LegendPlainComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapComponent, CanvasRenderer, SVGRenderer]);
window.charts = { init };
