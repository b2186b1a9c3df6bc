// What the engines of SDP have alike, in their order: BS, BN, EW.
#pragma once
#include "registers/fields/sdp.h"

namespace dlasim::reg::sdp {

struct Engine {
    Field bypass, alu_bypass, algorithm, mul_bypass, prelu;
    Field last_bypass;       // of ReLU; of EW's tables
    Field alu_src, mul_src;  // 1: operands from memory
};
inline constexpr Engine kEngines[] = {
    {D_DP_BS_CFG::BS_BYPASS, D_DP_BS_CFG::BS_ALU_BYPASS, D_DP_BS_CFG::BS_ALU_ALGO, D_DP_BS_CFG::BS_MUL_BYPASS, D_DP_BS_CFG::BS_MUL_PRELU,
     D_DP_BS_CFG::BS_RELU_BYPASS, D_DP_BS_ALU_CFG::BS_ALU_SRC, D_DP_BS_MUL_CFG::BS_MUL_SRC},
    {D_DP_BN_CFG::BN_BYPASS, D_DP_BN_CFG::BN_ALU_BYPASS, D_DP_BN_CFG::BN_ALU_ALGO, D_DP_BN_CFG::BN_MUL_BYPASS, D_DP_BN_CFG::BN_MUL_PRELU,
     D_DP_BN_CFG::BN_RELU_BYPASS, D_DP_BN_ALU_CFG::BN_ALU_SRC, D_DP_BN_MUL_CFG::BN_MUL_SRC},
    {D_DP_EW_CFG::EW_BYPASS, D_DP_EW_CFG::EW_ALU_BYPASS, D_DP_EW_CFG::EW_ALU_ALGO, D_DP_EW_CFG::EW_MUL_BYPASS, D_DP_EW_CFG::EW_MUL_PRELU,
     D_DP_EW_CFG::EW_LUT_BYPASS, D_DP_EW_ALU_CFG::EW_ALU_SRC, D_DP_EW_MUL_CFG::EW_MUL_SRC},
};
inline constexpr const Engine &kBs = kEngines[0], &kBn = kEngines[1], &kEw = kEngines[2];
inline constexpr std::uint32_t kEqual = 3;  // EW's algorithm: compare

/// BS and BN: shifts, and operands that hold for a whole layer.
struct XEngine {
    Field alu_shift, alu_operand, mul_shift, mul_operand;
};
inline constexpr XEngine kXEngines[] = {
    {D_DP_BS_ALU_CFG::BS_ALU_SHIFT_VALUE, D_DP_BS_ALU_SRC_VALUE::BS_ALU_OPERAND, D_DP_BS_MUL_CFG::BS_MUL_SHIFT_VALUE,
     D_DP_BS_MUL_SRC_VALUE::BS_MUL_OPERAND},
    {D_DP_BN_ALU_CFG::BN_ALU_SHIFT_VALUE, D_DP_BN_ALU_SRC_VALUE::BN_ALU_OPERAND, D_DP_BN_MUL_CFG::BN_MUL_SHIFT_VALUE,
     D_DP_BN_MUL_SRC_VALUE::BN_MUL_OPERAND},
};

/// EW's ALU and multiplier: an operand that holds for a whole layer, and how operands are converted.
struct YOperand {
    Field convert_bypass;
    Register operand, offset;
    Field scale, truncate;
};
inline constexpr YOperand kYOperands[] = {
    {D_DP_EW_ALU_CFG::EW_ALU_CVT_BYPASS, D_DP_EW_ALU_SRC_VALUE, D_DP_EW_ALU_CVT_OFFSET_VALUE, D_DP_EW_ALU_CVT_SCALE_VALUE::EW_ALU_CVT_SCALE,
     D_DP_EW_ALU_CVT_TRUNCATE_VALUE::EW_ALU_CVT_TRUNCATE},
    {D_DP_EW_MUL_CFG::EW_MUL_CVT_BYPASS, D_DP_EW_MUL_SRC_VALUE, D_DP_EW_MUL_CVT_OFFSET_VALUE, D_DP_EW_MUL_CVT_SCALE_VALUE::EW_MUL_CVT_SCALE,
     D_DP_EW_MUL_CVT_TRUNCATE_VALUE::EW_MUL_CVT_TRUNCATE},
};

}  // namespace dlasim::reg::sdp

namespace dlasim::reg::sdp_rdma {

/// What is read for an engine.
struct Operands {
    Field disable, use, size, per_element, primary;
    Register base_low, base_high, line_stride, surface_stride;
};
inline constexpr Operands kOperands[] = {
    {D_BRDMA_CFG::BRDMA_DISABLE, D_BRDMA_CFG::BRDMA_DATA_USE, D_BRDMA_CFG::BRDMA_DATA_SIZE, D_BRDMA_CFG::BRDMA_DATA_MODE,
     D_BRDMA_CFG::BRDMA_RAM_TYPE, D_BS_BASE_ADDR_LOW, D_BS_BASE_ADDR_HIGH, D_BS_LINE_STRIDE, D_BS_SURFACE_STRIDE},
    {D_NRDMA_CFG::NRDMA_DISABLE, D_NRDMA_CFG::NRDMA_DATA_USE, D_NRDMA_CFG::NRDMA_DATA_SIZE, D_NRDMA_CFG::NRDMA_DATA_MODE,
     D_NRDMA_CFG::NRDMA_RAM_TYPE, D_BN_BASE_ADDR_LOW, D_BN_BASE_ADDR_HIGH, D_BN_LINE_STRIDE, D_BN_SURFACE_STRIDE},
    {D_ERDMA_CFG::ERDMA_DISABLE, D_ERDMA_CFG::ERDMA_DATA_USE, D_ERDMA_CFG::ERDMA_DATA_SIZE, D_ERDMA_CFG::ERDMA_DATA_MODE,
     D_ERDMA_CFG::ERDMA_RAM_TYPE, D_EW_BASE_ADDR_LOW, D_EW_BASE_ADDR_HIGH, D_EW_LINE_STRIDE, D_EW_SURFACE_STRIDE},
};

}  // namespace dlasim::reg::sdp_rdma
