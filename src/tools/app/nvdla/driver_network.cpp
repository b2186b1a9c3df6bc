#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/nvdla/driver_files.h"
#include "app/nvdla/driver_manifest.h"
#include "base/error.h"
#include "network/images.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kAtom8 = 8, kAtom32 = 32;
constexpr double kSoftmaxIn = 1.0 / 16, kSoftmaxOut = 1.0 / 127;  // NETWORK.md: steps of a network by seed

/// Steps of the machine between two of the host, and the tensors that go in and out.
struct Segment {
    std::vector<std::size_t> steps;
    std::set<std::size_t> inputs, outputs;  // tensors
    std::optional<loadable::HostSoftmax> softmax{};
};

/// The operations of a file, and which of the program's they are.
struct Part {
    loadable::RecoveredTask task;
    std::vector<std::size_t> numbers;
};

/// What the emulator leaves in `out`.
void emulate_last(const loadable::HostSoftmax& softmax, const Tensor& in, Tensor& out)
{
    std::vector<std::uint8_t> bytes;
    for (const std::int16_t value : in.values)
        for (unsigned i = 0; i < softmax.element; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    const loadable::HostTask task{0, {softmax.operation()}};
    run_host_task(
        task,
        [&](const Place&, std::uint64_t count) { return std::vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)); },
        [&](const Place&, const std::vector<std::uint8_t>& made) {
            for (std::size_t i = 0; i < out.values.size(); ++i)
                out.values[i] = softmax.element == 1 ? static_cast<std::int8_t>(made[i])
                                                     : static_cast<std::int16_t>(made[2 * i] | made[2 * i + 1] << 8);
        });
}

class NetworkFiles {
public:
    NetworkFiles(NetworkPlan& plan, std::string name) : p_(plan), name_(std::move(name))
    {
        cut();
        emulate_softmax();
    }

    DriverFiles write()
    {
        for (Segment& segment : segments_) find_tensors(segment);
        DriverFiles files;
        std::vector<loadable::RecoveredTask> tasks = loadable::recover_operations(
            p_.program, p_.hardware, p_.network.file,
            [&](std::size_t step) { return host_action(step, p_.plans.size()).kind == HostAction::Kind::Compute; });
        const std::vector<std::size_t> segment_of = segments_by_operation();
        std::size_t chain = 0;
        for (loadable::RecoveredTask& task : tasks) {
            if (task.operations.empty()) continue;
            files.operations += task.operations.size();
            const std::size_t first = chain;
            chain += task.chain.back() + 1;
            for (auto& [segment, part] : parts_of(std::move(task), first, segment_of))
                files.files.push_back(write_file(std::move(part), segments_[segment]));
        }
        if (files.files.size() != segments_.size())
            throw ConfigError(where(), fmt::format("makes {} files of {} parts", files.files.size(), segments_.size()));
        files.manifest = manifest();
        return files;
    }

    /// Tensors of the files and of the caller's steps, as the network has them.
    std::vector<std::size_t> tensors() const
    {
        std::set<std::size_t> all;
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i) {
            if (!host(i) || emulated(i)) continue;
            all.insert(step(i).inputs.begin(), step(i).inputs.end());
            all.insert(step(i).output);
        }
        for (const Segment& segment : segments_) {
            all.insert(segment.inputs.begin(), segment.inputs.end());
            all.insert(segment.outputs.begin(), segment.outputs.end());
        }
        return {all.begin(), all.end()};
    }

    /// The softmax that NVIDIA's emulator carries out gives its own bytes: it cuts off where dlasim rounds.
    void emulate(std::vector<std::optional<Tensor>>& values) const
    {
        if (segments_.back().softmax && values[step(p_.steps.list.size() - 1).inputs.front()])
            emulate_last(*segments_.back().softmax, *values[step(p_.steps.list.size() - 1).inputs.front()],
                         *values[step(p_.steps.list.size() - 1).output]);
    }

private:
    const Step& step(std::size_t i) const { return p_.steps.list[i]; }
    bool host(std::size_t i) const { return step(i).unit == StepUnit::Host; }
    const std::string& where() const { return p_.network.file.empty() ? p_.network.name : p_.network.file; }

    void cut()
    {
        bool open = false;
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i) {
            if (host(i)) {
                open = false;
                continue;
            }
            if (!open || reads_mixed(i)) segments_.emplace_back();
            open = true;
            segments_.back().steps.push_back(i);
        }
        if (segments_.empty()) throw ConfigError(where(), "has no step of the machine: everything is CPU fallback");
    }

    /// A softmax of one place at the end is a task of NVIDIA's emulator in the last file.
    void emulate_softmax()
    {
        const std::size_t last = p_.steps.list.size() - 1;
        const Step& s = step(last);
        if (!host(last) || p_.network.layers[s.layer].op != NetworkOp::Softmax || s.activation == Activation::Tanh) return;
        const std::size_t from = s.inputs.front();
        const std::optional<std::size_t> maker = p_.steps.maker(from);
        if (!maker || !has(segments_.back(), *maker) || !side_by_side(from) || !side_by_side(s.output)) return;
        const std::optional<Quantisation> in = p_.steps.tensors[from].quantisation, out = p_.steps.tensors[s.output].quantisation;
        if ((in && in->zero != 0) || (out && out->zero != 0)) return;
        loadable::HostSoftmax softmax;
        softmax.source = p_.layouts[from].place;
        softmax.destination = p_.layouts[s.output].place;
        softmax.channels = p_.steps.tensors[from].channels;
        softmax.atom = p_.hardware.memory.atom_bytes;
        softmax.element = p_.network.element_bytes();
        if (!p_.network.is_fp16()) {
            softmax.input_scale = static_cast<float>(in ? in->scale : kSoftmaxIn);
            softmax.output_scale = static_cast<float>(out ? out->scale : kSoftmaxOut);
        }
        segments_.back().softmax = softmax;
        segments_.back().steps.push_back(last);
    }
    /// Its channels are those of one place, one after the other.
    bool side_by_side(std::size_t tensor) const
    {
        const NetworkTensor& t = p_.steps.tensors[tensor];
        const TensorLayout& layout = p_.layouts[tensor];
        const std::uint32_t atom = p_.hardware.memory.atom_bytes;
        return t.width == 1 && t.height == 1 && !layout.format && layout.whole() && layout.place.primary &&
               (atom == kAtom8 || atom == kAtom32) &&
               (layout.cube.strides.surface == atom || t.channels * p_.network.element_bytes() <= atom);
    }
    bool emulated(std::size_t i) const { return host(i) && !segments_.empty() && has(segments_.back(), i); }

    /// It reads a concatenation of which the segment that is open has made one part and the caller or another file the other: no file
    /// binds that as input and output. The caller puts it together, and a file begins.
    bool reads_mixed(std::size_t i) const
    {
        const std::vector<std::size_t> tensors = read_by(i);
        return std::any_of(tensors.begin(), tensors.end(), [&](std::size_t tensor) {
            const std::set<std::size_t> by = makers(tensor);
            const auto inside =
                static_cast<std::size_t>(std::count_if(by.begin(), by.end(), [&](std::size_t s) { return has(segments_.back(), s); }));
            return inside != 0 && (inside != by.size() || mixes_inputs(tensor));
        });
    }
    /// The segment of every operation of the program.
    std::vector<std::size_t> segments_by_operation() const
    {
        std::vector<std::size_t> segment_of;
        for (std::size_t s = 0; s < segments_.size(); ++s)
            for (const std::size_t i : segments_[s].steps)
                for (const std::size_t operation : p_.marks.steps[i].operations) {
                    segment_of.resize(std::max(segment_of.size(), operation + 1));
                    segment_of[operation] = s;
                }
        return segment_of;
    }
    /// Operations between two steps of the host, by segment. Every tensor has memory of its own, so no operation waits for a later segment.
    static std::map<std::size_t, Part> parts_of(loadable::RecoveredTask task, std::size_t first_chain,
                                                const std::vector<std::size_t>& segment_of)
    {
        std::map<std::size_t, Part> parts;
        for (std::size_t i = 0; i < task.operations.size(); ++i) {
            const std::size_t number = first_chain + task.chain[i];
            Part& part = parts[segment_of.at(number)];
            const bool next = !part.numbers.empty() && part.numbers.back() != number;
            part.task.chain.push_back(part.numbers.empty() ? 0 : part.task.chain.back() + (next ? 1 : 0));
            part.numbers.push_back(number);
            part.task.operations.push_back(std::move(task.operations[i]));
            renumber_table(part.task.operations.back().operation, task.tables, part.task.tables);
        }
        return parts;
    }

    /// Tables of a file count from its first use on.
    static void renumber_table(loadable::Operation& o, const std::vector<loadable::LookupTable>& from,
                               std::vector<loadable::LookupTable>& to)
    {
        if (o.table() < 0) return;
        const loadable::LookupTable& table = from[static_cast<std::size_t>(o.table())];
        const auto at = std::find(to.begin(), to.end(), table);
        (o.kind == loadable::Kind::Sdp ? o.sdp.table : o.cdp.table) = static_cast<std::int16_t>(at - to.begin());
        if (at == to.end()) to.push_back(table);
    }

    const JoinedTensor* joined(std::size_t tensor) const
    {
        for (const JoinedTensor& j : p_.steps.joined)
            if (j.whole == tensor) return &j;
        return nullptr;
    }
    /// Steps that make a tensor; none of an input of the network.
    std::set<std::size_t> makers(std::size_t tensor) const
    {
        std::set<std::size_t> all;
        if (const JoinedTensor* j = joined(tensor)) {
            for (const std::size_t part : j->parts) all.merge(makers(part));
            return all;
        }
        if (const std::optional<std::size_t> maker = p_.steps.maker(tensor)) all.insert(*maker);
        return all;
    }
    static bool has(const Segment& segment, std::size_t step)
    {
        return std::find(segment.steps.begin(), segment.steps.end(), step) != segment.steps.end();
    }
    std::vector<std::size_t> read_by(std::size_t i) const
    {
        std::vector<std::size_t> tensors = step(i).inputs;
        if (step(i).addend) tensors.push_back(*step(i).addend);
        return tensors;
    }

    void find_tensors(Segment& segment) const
    {
        for (const std::size_t i : segment.steps)
            for (const std::size_t tensor : read_by(i)) add_input(segment, tensor);
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i)
            if (!has(segment, i))
                for (const std::size_t tensor : read_by(i)) add_output(segment, tensor);
        for (std::size_t tensor = 0; tensor < p_.steps.tensors.size(); ++tensor)
            if (p_.exists(tensor) && p_.is_output(tensor)) add_output(segment, tensor);
        for (std::set<std::size_t>* tensors : {&segment.inputs, &segment.outputs}) drop_contained(*tensors);
    }
    void add_input(Segment& segment, std::size_t tensor) const
    {
        const std::set<std::size_t> by = makers(tensor);
        const auto inside = static_cast<std::size_t>(std::count_if(by.begin(), by.end(), [&](std::size_t i) { return has(segment, i); }));
        if (by.empty() || inside == 0) segment.inputs.insert(tensor);
    }
    /// A part of a concatenation is an input of the network.
    bool mixes_inputs(std::size_t tensor) const
    {
        const JoinedTensor* j = joined(tensor);
        return j && std::any_of(j->parts.begin(), j->parts.end(), [&](std::size_t part) { return makers(part).empty(); });
    }
    /// Of a concatenation that comes from several files, or in part from the caller, its parts: the caller puts them together.
    void add_output(Segment& segment, std::size_t tensor) const
    {
        const JoinedTensor* parts = scattered(tensor);
        for (std::size_t i = 0; parts && i < parts->parts.size(); ++i) add_output(segment, parts->parts[i]);
        for (const std::size_t i : makers(tensor))
            if (!parts && has(segment, i)) segment.outputs.insert(tensor);
    }
    /// A concatenation that no file makes alone.
    const JoinedTensor* scattered(std::size_t tensor) const
    {
        const JoinedTensor* j = joined(tensor);
        if (!j) return nullptr;
        const std::set<std::size_t> by = makers(tensor);
        const auto whole = [&](const Segment& s) { return std::all_of(by.begin(), by.end(), [&](std::size_t i) { return has(s, i); }); };
        return !mixes_inputs(tensor) && std::any_of(segments_.begin(), segments_.end(), whole) ? nullptr : j;
    }
    /// A tensor inside of another one of the same file.
    void drop_contained(std::set<std::size_t>& tensors) const
    {
        const auto inside = [&](std::size_t a, std::size_t b) {
            const TensorLayout &x = p_.layouts[a], &y = p_.layouts[b];
            return a != b && x.place.address >= y.place.address && x.place.address + x.bytes <= y.place.address + y.bytes &&
                   (x.bytes < y.bytes || a > b);
        };
        std::set<std::size_t> kept;
        for (const std::size_t a : tensors)
            if (std::none_of(tensors.begin(), tensors.end(), [&](std::size_t b) { return inside(a, b); })) kept.insert(a);
        tensors = std::move(kept);
    }

    loadable::TensorEntry entry(std::size_t tensor) const
    {
        const NetworkTensor& t = p_.steps.tensors[tensor];
        const TensorLayout& layout = p_.layouts[tensor];
        const std::uint32_t channels = layout.format ? t.channels : layout.channels();
        return driver_tensor(t.name, p_.network.precision, {t.width, t.height, channels}, layout.format, layout.cube.strides, p_.hardware,
                             where() + ": tensor " + t.name);
    }
    loadable::BoundTensor bound(std::size_t tensor, bool output) const
    {
        const TensorLayout& layout = p_.layouts[tensor];
        loadable::BoundTensor b{output, layout.place, layout.bytes, entry(tensor)};
        b.tensor.size = layout.bytes;
        return b;
    }
    std::vector<loadable::BoundTensor> bound_of(const Segment& segment) const
    {
        std::vector<loadable::BoundTensor> all;
        for (const std::size_t tensor : segment.inputs) all.push_back(bound(tensor, false));
        for (const std::size_t tensor : segment.outputs) all.push_back(bound(tensor, true));
        return all;
    }

    std::string write_file(Part part, const Segment& segment) const
    {
        loadable::FileSource source{p_.hardware, where(), bound_of(segment), {}, {}};
        for (const PlannedImage& image : p_.images) source.constants.push_back({image.place, image.bytes});
        source.name = [this, &part](std::size_t operation) { return step_of(part.numbers[operation]); };
        used_constants(part.task, source.constants);
        source.softmax = segment.softmax;
        return loadable::driver_file(std::move(part.task), source);
    }
    /// Of a network in several files each has its own weights.
    static void used_constants(loadable::RecoveredTask& task, std::vector<loadable::ConstantBytes>& constants)
    {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
        for (loadable::RecoveredOperation& o : task.operations) {
            const std::vector<loadable::Cube*> cubes = loadable::cubes_of(o.operation);
            for (std::size_t k = 0; k < cubes.size(); ++k)
                if (o.places[k]) used.emplace_back(o.places[k]->address.byte(), o.places[k]->address.byte() + std::max(cubes[k]->size, 1u));
        }
        std::sort(used.begin(), used.end());
        std::erase_if(constants, [&](const loadable::ConstantBytes& c) {
            const std::uint64_t begin = c.place.address.byte(), end = begin + c.bytes.size();
            return std::none_of(used.begin(), used.end(), [&](const auto& range) { return range.first < end && begin < range.second; });
        });
    }
    std::string step_of(std::size_t operation) const
    {
        for (std::size_t i = 0; i < p_.marks.steps.size(); ++i) {
            const Sequence::Operations& of = p_.marks.steps[i].operations;
            if (std::find(of.begin(), of.end(), operation) != of.end()) return step(i).name;
        }
        return "";
    }

    OrderedJson manifest() const
    {
        OrderedJson json = manifest_begin(p_.hardware, name_);
        json["inputs"] = json["outputs"] = json["tensors"] = json["order"] = OrderedJson::array();
        for (std::size_t t = 0; t < p_.network.tensors.size(); ++t)
            if (!p_.network.tensors[t].layer) json["inputs"].push_back(p_.network.tensors[t].name);
        std::set<std::size_t> told;
        const auto tell = [&](std::size_t tensor) {
            if (!p_.exists(tensor) || !told.insert(tensor).second) return;
            const TensorLayout& layout = p_.layouts[tensor];
            const NetworkTensor& t = p_.steps.tensors[tensor];
            json["tensors"].push_back(manifest_tensor(
                {entry(tensor), layout.bytes, layout.whole() ? std::vector<ChannelPiece>{} : layout.pieces, t.channels, t.quantisation}));
        };
        std::size_t segment = 0;
        std::set<std::size_t> joined_before;
        for (std::size_t i = 0; i < p_.steps.list.size(); ++i) {
            if (emulated(i)) continue;
            if (host(i)) {
                for (const std::size_t tensor : step(i).inputs) tell_joined(json, tensor, tell, joined_before);
                json["order"].push_back(manifest_cpu(p_, step(i)));
                for (const std::size_t tensor : step(i).inputs) tell(tensor);
                tell(step(i).output);
                continue;
            }
            if (segment == segments_.size() || segments_[segment].steps.front() != i) continue;
            for (const std::size_t tensor : segments_[segment].inputs) tell_joined(json, tensor, tell, joined_before);
            json["order"].push_back(manifest_file(driver_file_name(name_, segment, segments_.size()), bound_of(segments_[segment])));
            if (segments_[segment].softmax) json["order"].back()["emulated"] = {step(segments_[segment].steps.back()).name};
            for (const std::size_t tensor : segments_[segment].inputs) tell(tensor);
            for (const std::size_t tensor : segments_[segment].outputs) tell(tensor);
            ++segment;
        }
        for (std::size_t t = 0; t < p_.steps.tensors.size(); ++t)
            if (p_.exists(t) && p_.is_output(t)) {
                tell_joined(json, t, tell, joined_before);
                tell(t);
                json["outputs"].push_back(p_.steps.tensors[t].name);
            }
        return json;
    }

    /// A concatenation that the caller puts together: once, before it is read first.
    template <class Tell>
    void tell_joined(OrderedJson& json, std::size_t tensor, const Tell& tell, std::set<std::size_t>& before) const
    {
        const JoinedTensor* j = scattered(tensor);
        if (!j || !before.insert(tensor).second) return;
        OrderedJson step{{"cpu", "concat"}, {"step", p_.steps.tensors[tensor].name}, {"why", "its parts are in several memories"}};
        step["inputs"] = OrderedJson::array();
        for (const std::size_t part : j->parts) {
            tell_joined(json, part, tell, before);
            tell(part);
            step["inputs"].push_back(p_.steps.tensors[part].name);
        }
        tell(tensor);
        step["outputs"] = {p_.steps.tensors[tensor].name};
        json["order"].push_back(std::move(step));
    }

    NetworkPlan& p_;
    const std::string name_;
    std::vector<Segment> segments_;
};

}  // namespace

std::string golden_file_name(std::string tensor)
{
    for (char& c : tensor)
        if (c == '/' || c == '\\' || c == ':' || c == '\0') c = '_';
    return tensor + ".npy";
}

loadable::TensorEntry driver_tensor(const std::string& name, Precision precision, const CubeSize& size, const PixelFormat* pixels,
                                    const Strides& strides, const Hardware& hardware, const std::string& where)
{
    constexpr unsigned kHalf = 2, kWord = 3, kByte = 4, kFeatures32 = 36, kFeatures8 = 37;
    loadable::TensorEntry t;
    t.name = name;
    t.type = precision == Precision::Fp16 ? kHalf : precision == Precision::Int16 ? kWord : kByte;
    const std::uint32_t atom = hardware.memory.atom_bytes;
    if (!pixels && atom != kAtom8 && atom != kAtom32)
        throw ConfigError(where, fmt::format("is made of atoms of {} bytes, expected 8 or 32: the file has no format for others", atom));
    if (pixels && pixels->planes != 1)
        throw ConfigError(where, "has pixels of two planes, expected one: the file has no second tensor for it");
    t.pixel_format = pixels ? pixels->code : atom == kAtom8 ? kFeatures8 : kFeatures32;
    t.n = 1;
    t.c = size.channels;
    t.h = size.height;
    t.w = size.width;
    t.line_stride = strides.line;
    t.surface_stride = pixels ? 0 : strides.surface;
    return t;
}

std::string driver_file_name(const std::string& name, std::size_t i, std::size_t count)
{
    return count == 1 ? name + ".nvdla" : fmt::format("{}-{}.nvdla", name, i);
}

NetworkOptions driver_network_options()
{
    NetworkOptions options;
    options.cvsram = false;
    options.keep_tensors = true;
    options.for_driver = true;
    return options;
}

Hardware driver_machine(Hardware hardware)
{
    hardware.rubik = false;
    return hardware;
}

DriverFiles driver_files(NetworkPlan& plan, const std::string& name, const ImageSource* source, bool golden)
{
    NetworkFiles network(plan, name);
    DriverFiles files = network.write();
    if (!golden) return files;
    std::vector<std::optional<Tensor>> values = source ? golden_tensors(plan, source->inputs(0)) : plan.golden;
    network.emulate(values);
    for (std::size_t t = 0; t < values.size(); ++t) {
        const bool input = t < plan.network.tensors.size() && !plan.network.tensors[t].layer;
        const std::vector<std::size_t> of_files = network.tensors();
        const bool told = input || plan.is_output(t) || std::find(of_files.begin(), of_files.end(), t) != of_files.end();
        if (values[t] && told)
            files.golden.push_back({golden_file_name(plan.steps.tensors[t].name), npy_file(*values[t], plan.network.precision)});
    }
    files.values = std::move(values);
    return files;
}

}  // namespace dlasim
