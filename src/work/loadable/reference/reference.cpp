#include "loadable/reference/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "golden/memory/reshaped.h"
#include "loadable/reference/layers.h"

namespace dlasim::loadable {
namespace {

/// The operations of a chain by unit; null where it has none.
struct Members {
    const ConvOperation* conv = nullptr;
    const SdpOperation* sdp = nullptr;
    const PdpOperation* pdp = nullptr;
    const CdpOperation* cdp = nullptr;
    const RubikOperation* rubik = nullptr;
    const BdmaOperation* bdma = nullptr;
};

Members members_of(const HardwareTask& task, const Chain& chain)
{
    Members m;
    for (const std::size_t i : chain)
        visit(Cases{[&](const ConvOperation& o) { m.conv = &o; }, [&](const SdpOperation& o) { m.sdp = &o; },
                    [&](const PdpOperation& o) { m.pdp = &o; }, [&](const CdpOperation& o) { m.cdp = &o; },
                    [&](const BdmaOperation& o) { m.bdma = &o; }, [&](const auto& o) { m.rubik = &o; }},
              task.operations[i]);
    return m;
}

/// One chain.
class Judge {
public:
    Judge(const LoadablePlan& plan, const HardwareTask& task, const Chain& chain, Shadow& shadow, const ReadLine& read,
          const Before& before)
        : plan_(plan), translate_(plan, task, shadow, before), m_(members_of(task, chain)), shadow_(shadow), read_(read)
    {
    }

    Verdict verdict()
    {
        Verdict verdict;
        std::vector<Features> written;
        try {
            if (m_.bdma) {
                copy(verdict);
                return verdict;
            }
            written = destinations();
            verdict.comparison = compared(written);
        } catch (const Unchecked& unchecked) {
            verdict.unchecked = unchecked.why;
            verdict.breaks_rule = unchecked.breaks_rule;
        }
        for (const Features& of : written) take_over(shadow_, of, read_);
        return verdict;
    }

private:
    /// Where the last unit has written, its whole cube; of Rubik's split planes, which are no features, one a channel.
    std::vector<Features> destinations() const
    {
        if (m_.rubik) {
            Features of = translate_.features(m_.rubik->destination, m_.rubik->precision);
            check_size(1, of.c, of.h, of.w);
            if (m_.rubik->mode != kSplit) return {of};
            const std::uint64_t plane_stride = translate_.held(m_.rubik->destination.plane_stride);
            of.strides.line = translate_.held(m_.rubik->destination.line_stride);
            std::vector<Features> planes;
            for (std::uint32_t c = 0; c < of.c; ++c) {
                Features plane = of;
                plane.place.address += c * plane_stride;
                plane.c = 1;
                plane.atom_bytes = plane.element_bytes;  // elements of a line are adjacent
                planes.push_back(plane);
            }
            return planes;
        }
        if (m_.pdp) return {translate_.features(m_.pdp->destination, m_.pdp->precision)};
        if (m_.cdp) return {written(m_.cdp->destination, m_.cdp->source, m_.cdp->precision)};
        if (!m_.sdp) throw Unchecked{"sends its sums to no operation", true};
        Features of = written(m_.sdp->destination, m_.sdp->source, m_.sdp->precision);
        of.n = m_.sdp->batch;
        of.strides.batch = of.n > 1 ? translate_.held(m_.sdp->batch_stride) : 0;
        return {of};
    }

    /// SDP and CDP write the shape that they take.
    Features written(Cube cube, const Cube& source, unsigned precision) const
    {
        cube.width = source.width, cube.height = source.height, cube.channels = source.channels;
        return translate_.features(cube, precision);
    }

    /// What the chain reads; of SDP alone not what it writes back in place.
    std::vector<Features> sources(const Features& written) const
    {
        using Field = Translator::Field;
        std::vector<Features> all;
        const auto bytes = [&](const Place& from, std::uint64_t count) {  // as one atom
            constexpr std::uint64_t kMaxAtomBytes = 1u << 31;
            Features range{from};
            range.atom_bytes = static_cast<std::uint32_t>(std::min(std::max<std::uint64_t>(count, 1), kMaxAtomBytes));
            all.push_back(range);
        };
        const auto extent = [&](const Cube& cube, std::uint32_t channels_in_one, std::uint64_t pixel) {
            return std::uint64_t{(std::max<std::uint32_t>(cube.channels, 1) - 1) / channels_in_one} * cube.surface_stride +
                   std::uint64_t{std::max<std::uint32_t>(cube.height, 1) - 1} * cube.line_stride + cube.width * pixel;
        };
        const std::uint32_t atom = plan_.hardware.memory.atom_bytes;
        if (m_.conv) {
            const ConvOperation& conv = *m_.conv;
            if (conv.feature()) {
                all.push_back(translate_.features(conv.source, conv.input_precision, Field::Fetched));
                all.back().n = conv.batch;
                all.back().strides.batch = translate_.held(conv.batch_stride, Field::Fetched);
            } else {
                bytes(translate_.place(conv.source, Field::Pixels), std::uint64_t{conv.source.line_stride} * conv.source.height);
            }
            bytes(translate_.place(conv.weights, Field::Fetched), conv.weights.size);
        } else if (m_.sdp && !m_.sdp->source.on_the_fly()) {
            all.push_back(translate_.features(m_.sdp->source, m_.sdp->source_precision));
        }
        if (m_.pdp && !m_.sdp && !m_.pdp->source.on_the_fly()) all.push_back(translate_.features(m_.pdp->source, m_.pdp->precision));
        if (m_.cdp) all.push_back(translate_.features(m_.cdp->source, m_.cdp->input_precision));
        for (std::size_t i = 0; m_.sdp && i < m_.sdp->operands.size(); ++i)
            if (m_.sdp->stages[i].reads())
                bytes(translate_.place(m_.sdp->operands[i]), extent(m_.sdp->operands[i], atom / written.element_bytes, atom));
        if (!m_.conv && m_.sdp) std::erase_if(all, [&](const Features& of) { return of.place == written.place; });
        return all;
    }

    Comparison compared(const std::vector<Features>& written) const
    {
        if (!apart(written)) throw Unchecked{"writes overlapping lines", true};
        for (const Features& of : sources(written.front()))
            if (meet(written, of)) throw Unchecked{"overwrites its input", true};
        const Tensor must = golden();
        const Features& first = written.front();
        if (must.n != first.n || must.h != first.h || must.w != first.w || must.c != (written.size() == 1 ? first.c : written.size()))
            throw Unchecked{"writes a cube of another shape than it computes", true};
        if (written.size() == 1) return compare(found(written.front()), must);
        Tensor all(1, must.c, must.h, must.w);
        for (std::uint32_t c = 0; c < must.c; ++c) {
            const Tensor plane = found(written[c]);
            std::copy(plane.values.begin(), plane.values.end(), all.values.begin() + static_cast<std::ptrdiff_t>(all.index(0, c, 0, 0)));
        }
        return compare(all, must);
    }
    Tensor found(const Features& of) const { return features(of, read_); }

    Tensor golden() const
    {
        if (m_.rubik) return reshaped();
        if (m_.cdp) {
            const Features of = translate_.features(m_.cdp->source, m_.cdp->input_precision);
            return cdp_output(translate_.function(*m_.cdp), translate_.input(of), of.c);
        }
        Tensor made;
        if (m_.sdp) {
            const GoldenLayer golden = translate_.layer(m_.conv, *m_.sdp);
            made = reference_output(golden.layer, plan_.hardware, golden.tensors, golden.method);
        }
        if (!m_.pdp) return made;
        const GoldenPool golden = translate_.pool(*m_.pdp);
        if (!m_.sdp) {
            if (m_.pdp->source.on_the_fly()) throw Unchecked{"takes its input from no operation", true};
            made = translate_.input(translate_.features(m_.pdp->source, m_.pdp->precision));
        }
        if (made.n != 1 || made.w != m_.pdp->source.width || made.h != m_.pdp->source.height || made.c != m_.pdp->source.channels)
            throw Unchecked{"pools a cube of another shape than its input", true};
        Tensor used(1, made.c, golden.height, golden.width);
        for (std::uint32_t c = 0; c < used.c; ++c)
            for (std::uint32_t y = 0; y < used.h; ++y)
                for (std::uint32_t x = 0; x < used.w; ++x) used.at(0, c, y, x) = made.at(0, c, y, x);
        return pooled(used, golden.pool, golden.precision, false);
    }

    /// Rubik moves elements.
    Tensor reshaped() const
    {
        const RubikOperation& op = *m_.rubik;
        Features of = translate_.features(op.source, op.precision);
        const std::uint32_t channels = op.destination.channels;
        if (op.mode == kMerge) {
            of.strides.line = translate_.held(op.source.line_stride);
            return planes(shadow_, of, translate_.held(op.source.plane_stride));
        }
        if (op.mode == kSplit) return translate_.input(of);
        const Extent stride{op.stride_x, op.stride_y};
        if (op.destination.width != of.w * stride.x || op.destination.height != of.h * stride.y)
            throw Unchecked{"writes a cube of another shape than its strides describe", true};
        if (op.source.surface_stride % of.atom_bytes != 0 || op.destination.line_stride % of.atom_bytes != 0)
            throw Unchecked{"has strides that are no multiple of an atom, multiplied", true};
        // Each phase has whole surfaces of its own.
        of.n = stride.x * stride.y;
        of.c = channels;
        of.strides.surface = op.source.surface_stride;
        of.strides.batch = (channels + of.per_atom() - 1) / of.per_atom() * of.strides.surface;
        return contracted(translate_.input(of), stride);
    }

    /// BDMA moves bytes: all lines are read before any is compared with what was written over it.
    void copy(Verdict& verdict)
    {
        constexpr std::uint64_t kMaxBytes = 1u << 28;
        for (const Transfer& t : m_.bdma->transfers) {
            const Place from = translate_.place(t.source, 0), to = translate_.place(t.destination, 0);
            const Strides source{.line = translate_.held(t.source_line), .surface = translate_.held(t.source_surface)},
                destination{.line = translate_.held(t.destination_line), .surface = translate_.held(t.destination_surface)};
            if (std::uint64_t{t.lines} * t.surfaces * t.line_bytes > kMaxBytes) {
                verdict.unchecked = "copies more bytes than are compared";
                return;
            }
            std::vector<std::uint8_t> found(t.line_bytes);
            for (std::uint32_t s = 0; s < t.surfaces; ++s)
                for (std::uint32_t l = 0; l < t.lines; ++l) {
                    const auto at = [&](const Place& place, const Strides& by) { return place + (s * by.surface + l * by.line); };
                    const Place end = at(to, destination);
                    const std::vector<std::uint8_t> must = shadow_.bytes(at(from, source), t.line_bytes);
                    read_(end, found);
                    verdict.comparison.compared += must.size();
                    for (std::size_t i = 0; i < must.size(); ++i) {
                        if (found[i] == must[i]) continue;
                        if (++verdict.comparison.mismatches == 1)
                            verdict.comparison.examples.push_back(
                                fmt::format("{:#x}: found {:#04x}, expected {:#04x}", (end.address + i).byte(), found[i], must[i]));
                    }
                    shadow_.write(end, found);
                }
        }
    }

    const LoadablePlan& plan_;
    const Translator translate_;
    const Members m_;
    Shadow& shadow_;
    const ReadLine& read_;
};

}  // namespace

Reference::Reference(const LoadablePlan& plan) : plan_(plan), verdicts_(plan.chains.size())
{
    fill_memory(plan, [&](const Place& to, std::span<const std::uint8_t> bytes) { shadow_.write(to, bytes); });
}

void Reference::host(std::size_t number)
{
    run_host_task(
        plan_.hosts[number], [&](const Place& from, std::uint64_t bytes) { return shadow_.bytes(from, bytes); },
        [&](const Place& to, const std::vector<std::uint8_t>& bytes) { shadow_.write(to, bytes); });
}

void Reference::chain(std::size_t number, const ReadLine& read)
{
    const auto of = std::find_if(plan_.operations.begin(), plan_.operations.end(), [&](const Scheduled& s) { return s.chain == number; });
    if (of == plan_.operations.end()) return;  // BDMA without transfers
    Verdict& verdict = verdicts_[number].emplace();
    if (!broken_.empty()) {
        verdict.unchecked = broken_;
        return;
    }
    const HardwareTask& task = plan_.task_of(*of);
    verdict = Judge(plan_, task, plan_.chains[number], shadow_, read, before_).verdict();
    if (const ConvOperation* conv = members_of(task, plan_.chains[number]).conv) before_ = {&task, conv};
    if (verdict.breaks_rule) broken_ = fmt::format("follows operation {}, which {}", of->operation, verdict.unchecked);
}

}  // namespace dlasim::loadable
