#include "io/power_cut_model.h"

#include <algorithm>
#include <utility>

namespace fsdpckpt {
namespace {

std::size_t below(std::size_t limit, std::mt19937& random) { return random() % limit; }

void copy_sector(std::string_view from, std::size_t start, std::size_t length, std::string& to) {
  if (start >= from.size() || start >= to.size()) return;
  length = std::min({length, from.size() - start, to.size() - start});
  from.substr(start, length).copy(to.data() + start, length);
}

}  // namespace

PowerCutModel::File PowerCutModel::put(const std::string& name, const std::string& content) {
  const File file = create(name);
  write(file, 0, content);
  sync(file);
  sync_folder();
  return file;
}

PowerCutModel::File PowerCutModel::create(const std::string& name) {
  names_.try_emplace(name, 1, std::nullopt).first->second.emplace_back(contents_.size());
  contents_.emplace_back();
  return contents_.size() - 1;
}

void PowerCutModel::write(File file, std::size_t offset, std::string_view bytes) {
  Content& content = contents_.at(file);
  if (content.current.size() < offset + bytes.size()) resize(file, offset + bytes.size());
  bytes.copy(content.current.data() + offset, bytes.size());
  for (std::size_t sector = offset / kSector; sector * kSector < offset + bytes.size(); ++sector)
    content.unsynced.insert(sector);
}

void PowerCutModel::resize(File file, std::size_t size) {
  contents_.at(file).current.resize(size);
  contents_.at(file).sizes.push_back(size);
}

void PowerCutModel::sync(File file) {
  Content& content = contents_.at(file);
  content.safe.resize(content.current.size());
  for (const std::size_t sector : std::exchange(content.unsynced, {})) {
    copy_sector(content.current, sector * kSector, kSector, content.safe);
    content.dropped.erase(sector);
  }
  content.sizes = {content.current.size()};
}

void PowerCutModel::fail_sync(File file) {
  Content& content = contents_.at(file);
  content.dropped.merge(std::exchange(content.unsynced, {}));
}

void PowerCutModel::rename(const std::string& from, const std::string& to) {
  link(from, to);
  unlink(from);
}

void PowerCutModel::link(const std::string& from, const std::string& to) {
  const std::optional<File> file = newest(from);
  names_.try_emplace(to, 1, std::nullopt).first->second.push_back(file);
}

void PowerCutModel::unlink(const std::string& name) { names_.at(name).emplace_back(std::nullopt); }

void PowerCutModel::sync_folder() {
  for (auto& [name, history] : names_) history.erase(history.begin(), history.end() - 1);
}

std::optional<PowerCutModel::File> PowerCutModel::newest(const std::string& name) const {
  return names_.at(name).back();
}

std::string PowerCutModel::found(const Content& content, std::mt19937& random) {
  std::string result = content.safe;
  result.resize(content.sizes[below(content.sizes.size(), random)]);
  for (const auto* sectors : {&content.unsynced, &content.dropped}) {
    for (const std::size_t sector : *sectors) {
      if (below(2, random) == 1) copy_sector(content.current, sector * kSector, kSector, result);
    }
  }
  return result;
}

PowerCutModel::Folder PowerCutModel::after_cut(std::mt19937& random) const {
  Folder folder;
  for (const auto& [name, history] : names_) {
    const std::optional<File> file = history[below(history.size(), random)];
    if (file) folder[name] = found(contents_[*file], random);
  }
  return folder;
}

PowerCutModel::Folder PowerCutModel::names_without_content() const {
  Folder folder;
  for (const auto& [name, history] : names_) {
    if (history.back()) folder[name] = contents_[*history.back()].safe;
  }
  return folder;
}

}  // namespace fsdpckpt
