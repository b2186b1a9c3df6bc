// The planner at work: what plan.h promises, in three files.
#pragma once
#include "lowering/plan.h"
#include "lowering/split.h"

namespace dlasim {

class Planner {
public:
    /// Without tensors only shapes are planned.
    Planner(const Layer& layer, const Hardware& hw, const LayerTensors* tensors);
    Plan plan();

private:
    // ---- plan.cpp: any layer
    std::uint32_t groups_together() const;
    void add_group_pass(std::uint32_t group, std::uint32_t count);
    /// What every pass of the layer has in common.
    Pass common_pass() const;
    /// Places weights, bias and output, writes the registers. `weights` may be empty without tensors.
    void finish_pass(PlannedPass planned, const Tensor& weights);
    /// Writes the registers of a pass that has all its places.
    void add_pass(PlannedPass planned);
    std::uint32_t rows_at_once() const;
    void refuse_defective_rows() const;
    Tensor block_of_groups(std::uint32_t group, std::uint32_t count) const;
    void add_image(const std::string& what, Place place, Bytes bytes);
    std::uint64_t reserve(std::uint64_t& next, std::uint64_t start, std::uint64_t bytes, const std::string& what);
    void place_input(PlannedPass& planned, std::uint32_t first_channel);
    void place_weights(PlannedPass& planned, const Tensor& weights);
    void place_operands(PlannedPass& planned);
    void place_output(PlannedPass& planned);
    std::uint64_t reserve_output(std::uint64_t bytes);
    bool interleaved() const { return l_.op == Op::Deconvolution && (l_.stride.x > 1 || l_.stride.y > 1); }
    void add_sdp_pass();
    void add_pool_pass();
    void place_pooled(PlannedPass& planned);
    void check_pool() const;
    std::uint32_t address_of(const std::string& name) const;
    void write(const std::string& name, std::uint32_t value);
    void write_program();
    void write_lut();
    void check_placement();

    // ---- parts.cpp
    /// The layer's partition of a pass; without one the pass as it is, or a refusal that names the way out.
    Split split(const Pass& pass, bool by_kernels) const;
    /// What all parts of a pass have in common.
    Geometry size_parts(const Pass& pass, const Split& split) const;
    /// finish_pass() for a pass or all its parts.
    void finish_parts(PlannedPass planned, const Split& split, const Tensor& weights);
    void add_part(PlannedPass some, const Split& split, const Part& part);

    // ---- deconvolution.cpp
    struct Axis;
    void deconvolve();
    void add_phase(const Axis& x, const Axis& y, const Split& split, std::uint32_t data_banks, std::uint32_t weight_banks);
    Pass phase_pass(const Axis& x, const Axis& y) const;
    Tensor phase_weights(const Axis& x, const Axis& y) const;
    void contract(std::uint32_t width, std::uint32_t height);

    const Layer& l_;
    const Hardware& hw_;
    const LayerTensors* t_;
    std::string where_;
    Plan plan_;
    const Addresses base_;  // where the tensors begin
    Addresses next_ = base_;
    std::uint64_t input_address_ = 0;   // deconvolution: one input for all phases
    std::vector<RegisterValue> rubik_;  // registers of the contraction, none without
};

}  // namespace dlasim
