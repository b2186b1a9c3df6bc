#include "base/files/claims.h"

#include <sys/stat.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/output.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;
using Node = std::pair<dev_t, ino_t>;

std::optional<Node> node_of(const fs::path& path, mode_t* mode = nullptr)
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    if (mode) *mode = status.st_mode;
    return Node{status.st_dev, status.st_ino};
}

}  // namespace

/// Where a file is, or will be.
struct OutputClaim::Place {
    explicit Place(const fs::path& name) : named(name)
    {
        mode_t mode = S_IFREG;
        node = node_of(name, &mode);
        folder = S_ISDIR(mode);
        counts = folder || S_ISREG(mode);
        std::error_code error;
        const fs::path whole = fs::absolute(name, error);
        real = fs::weakly_canonical(node ? whole : follow_links(whole).first, error);
        if (error) real = whole.lexically_normal();
        if (!real.has_filename()) real = real.parent_path();  // "folder/"
    }
    bool is(const Place& other) const { return real == other.real || (node && node == other.node); }
    /// Somewhere below it, however that is mounted or linked.
    bool is_below(const Place& other) const
    {
        for (fs::path above = real.parent_path();; above = above.parent_path()) {
            if (above == other.real || (other.node && node_of(above) == other.node)) return true;
            if (above == above.parent_path()) return false;
        }
    }
    bool touches(const Place& other) const
    {
        return counts && other.counts && (is(other) || (other.folder && is_below(other)) || (folder && other.is_below(*this)));
    }

    fs::path named, real;
    std::optional<Node> node;
    bool folder = false, counts = true;  // counts: no device, FIFO or socket
};

namespace {

using Place = OutputClaim::Place;

struct Claims {
    std::map<fs::path, Place> inputs;  // by their real names
    std::map<Node, const Place*> nodes;
    std::set<const Place*> input_folders;
    std::list<const Place*> outputs;

    /// The input that a place is, has below it or lies below; null if there is none.
    const Place* input_at(const Place& place) const
    {
        if (!place.counts) return nullptr;
        if (const auto input = inputs.find(place.real); input != inputs.end()) return &input->second;
        const auto there = place.node ? nodes.find(*place.node) : nodes.end();
        if (there != nodes.end() && node_of(there->second->real) == place.node) return there->second;  // inodes are used again
        for (const Place* folder : input_folders)
            if (place.is_below(*folder)) return folder;
        if (place.folder)
            for (const auto& [real, input] : inputs)
                if (input.is_below(place)) return &input;
        return nullptr;
    }
};

Claims& claims()
{
    static Claims claims;
    return claims;
}

[[noreturn]] void refuse(const Place& output, const Place& input)
{
    const std::string also = output.named == input.named ? "" : " (" + input.named.string() + ")";
    throw ConfigError(output.named.string(), "would be written, and is an input of this command" + also + ", expected another name for it");
}

}  // namespace

namespace {

void claim(Place&& place)
{
    const fs::path real = place.real;
    const Place& input = claims().inputs.insert_or_assign(real, std::move(place)).first->second;
    if (input.node) claims().nodes[*input.node] = &input;
    if (input.folder) claims().input_folders.insert(&input);
    for (const Place* output : claims().outputs)
        if (output->touches(input)) refuse(*output, input);
}

}  // namespace

void claim_input(const fs::path& file)
{
    if (Place place(file); place.counts && !place.folder) claim(std::move(place));
}

void claim_input_folder(const fs::path& folder)
{
    if (Place place(folder); place.folder) claim(std::move(place));
}

std::vector<fs::path> files_named(const std::string& text, const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const std::string& name : {text, text.substr(text.find('=') + 1), text.substr(0, text.find(':'))})
        for (const fs::path& file : {folder / name, fs::path(name)}) {
            if (name.empty() || !node_of(file)) continue;
            if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
            break;
        }
    return files;
}

bool is_input(const fs::path& file) { return claims().input_at(Place(file)) != nullptr; }

void expect_no_input(const fs::path& output)
{
    const Place place(output);
    if (const Place* input = claims().input_at(place)) refuse(place, *input);
}

OutputClaim::OutputClaim(const fs::path& path, Extent extent) : place_(std::make_unique<Place>(path))
{
    place_->folder = extent == Extent::Folder;
    for (const Place* other : claims().outputs)
        if (!place_->folder && !other->folder && other->real == place_->real)
            throw ConfigError(path.string(), "is already written by this command, expected another file");
    if (const Place* input = claims().input_at(*place_)) refuse(*place_, *input);
    std::error_code error;
    auto below = place_->folder ? fs::directory_iterator(path, error) : fs::directory_iterator();
    for (; !error && below != fs::directory_iterator(); below.increment(error)) expect_no_input(below->path());  // it may be a link
    claims().outputs.push_back(place_.get());
}

OutputClaim::~OutputClaim() { claims().outputs.remove(place_.get()); }

bool is_output(const fs::path& file)
{
    const Place place(file);
    const auto& outputs = claims().outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const Place* output) { return !output->folder && output->real == place.real; });
}

}  // namespace dlasim
