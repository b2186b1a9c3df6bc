// What CDMA counts. The stalls and latencies are its performance registers, summed over the layers that switched them on.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct CdmaCounters {
    std::uint64_t layers = 0, data_atoms_read = 0, weight_atoms_read = 0, cbuf_data_writes = 0, cbuf_weight_writes = 0;
    std::uint64_t data_read_stall = 0, weight_read_stall = 0, data_read_latency = 0, weight_read_latency = 0;
    std::uint64_t weights = 0, feature = 0, image = 0, port_mux = 0, shared_buffer = 0, converter = 0, converter_cells = 0;
    std::optional<std::uint64_t> winograd;
};

template <>
inline constexpr auto counters<CdmaCounters> = std::array{
    counter("layers", &CdmaCounters::layers, "layers", "layers started", "cdma.md 2.2"),
    counter("data_atoms_read", &CdmaCounters::data_atoms_read, "atoms", "memory atoms of input data received", "cdma.md 3.3"),
    counter("weight_atoms_read", &CdmaCounters::weight_atoms_read, "atoms", "memory atoms of weights, masks and group sizes received",
            "cdma.md 7.4"),
    counter("cbuf_data_writes", &CdmaCounters::cbuf_data_writes, "writes", "write strobes of data into CBUF", "cbuf.md 1.1"),
    counter("cbuf_weight_writes", &CdmaCounters::cbuf_weight_writes, "writes", "write strobes of weights and masks into CBUF",
            "cbuf.md 1.1"),
    counter("data_read_stall", &CdmaCounters::data_read_stall, "cycles",
            "a read request for data was valid and not accepted, in layers that count (D_PERF_DAT_READ_STALL)", "cdma.md 11"),
    counter("weight_read_stall", &CdmaCounters::weight_read_stall, "cycles",
            "a read request for weights was valid and not accepted, in layers that count (D_PERF_WT_READ_STALL)", "cdma.md 11"),
    counter("data_read_latency", &CdmaCounters::data_read_latency, "cycles",
            "at least one burst of data was in flight, in layers that count (D_PERF_DAT_READ_LATENCY)", "cdma.md 11"),
    counter("weight_read_latency", &CdmaCounters::weight_read_latency, "cycles",
            "at least one burst of weights was in flight, in layers that count (D_PERF_WT_READ_LATENCY); 0 except on nv_full",
            "cdma.md 11"),
    clock_domain("weights", &CdmaCounters::weights, "weight fetcher", "cdma.md 12"),
    clock_domain("feature", &CdmaCounters::feature, "feature fetcher (DC)", "cdma.md 12"),
    clock_domain("image", &CdmaCounters::image, "pixel fetcher (IMG)", "cdma.md 12"),
    clock_domain("port_mux", &CdmaCounters::port_mux, "multiplexer of the data port", "cdma.md 12"),
    clock_domain("shared_buffer", &CdmaCounters::shared_buffer, "shared buffer", "cdma.md 12"),
    clock_domain("converter", &CdmaCounters::converter, "control of the converter", "cdma.md 12"),
    clock_domain("converter_cells", &CdmaCounters::converter_cells, "converter cells, in layers that convert", "cdma.md 12"),
    clock_domain("winograd", &CdmaCounters::winograd, "Winograd fetcher (WG)", "cdma.md 12", "where the machine has Winograd"),
};

}  // namespace dlasim
