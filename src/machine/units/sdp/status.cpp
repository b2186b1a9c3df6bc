#include "units/sdp/status.h"

#include "registers/fields/sdp.h"

namespace dlasim::sdp {
namespace {

/// A counter that stops at all-ones; 0 if it was off.
std::uint32_t stopped(std::uint64_t count, bool on = true)
{
    return on ? static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX)) : 0;
}
/// A counter that wraps.
std::uint32_t wrapped(std::uint64_t count) { return static_cast<std::uint32_t>(count); }

}  // namespace

CoreStatus::CoreStatus()
    : GroupStatus({reg::sdp::D_STATUS, reg::sdp::D_STATUS_NAN_INPUT_NUM, reg::sdp::D_STATUS_INF_INPUT_NUM,
                   reg::sdp::D_STATUS_NAN_OUTPUT_NUM, reg::sdp::D_PERF_WDMA_WRITE_STALL, reg::sdp::D_PERF_LUT_UFLOW,
                   reg::sdp::D_PERF_LUT_OFLOW, reg::sdp::D_PERF_OUT_SATURATION, reg::sdp::D_PERF_LUT_HYBRID, reg::sdp::D_PERF_LUT_LE_HIT,
                   reg::sdp::D_PERF_LUT_LO_HIT})
{
}

void CoreStatus::latch(unsigned group, bool unequal, const ValueCounters& values, std::uint64_t write_stall)
{
    GroupStatus::latch(group, {unequal, 0, 0, stopped(values.nan_output), wrapped(write_stall), stopped(values.look_ups.underflow),
                               stopped(values.look_ups.overflow), stopped(values.saturated), stopped(values.look_ups.hybrid),
                               stopped(values.look_ups.le_hit), stopped(values.look_ups.lo_hit)});
}

ReadStatus::ReadStatus()
    : GroupStatus({reg::sdp_rdma::D_STATUS_NAN_INPUT_NUM, reg::sdp_rdma::D_STATUS_INF_INPUT_NUM, reg::sdp_rdma::D_PERF_MRDMA_READ_STALL,
                   reg::sdp_rdma::D_PERF_BRDMA_READ_STALL, reg::sdp_rdma::D_PERF_NRDMA_READ_STALL, reg::sdp_rdma::D_PERF_ERDMA_READ_STALL})
{
}

void ReadStatus::latch(unsigned group, const ValueCounters& values, bool nan, const std::array<std::uint64_t, kReadEngines>& stalls)
{
    GroupStatus::latch(group, {stopped(values.nan_input, nan), stopped(values.infinite_input, nan), wrapped(stalls[0]), wrapped(stalls[1]),
                               wrapped(stalls[2]), wrapped(stalls[3])});
}

}  // namespace dlasim::sdp
