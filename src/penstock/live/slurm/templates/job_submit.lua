-- job_submit.lua: a job that says how much bandwidth it will need, as in `sbatch --comment=io=20`, waits until so many
-- per cent are free. Made by `penstock slurm files`.
--
-- It runs while slurmctld holds its locks, so it only reads and sets job_desc: no file, no command, no network. It never
-- refuses a job.

local LICENSE = "@LICENSE@"
local TOTAL = @TOTAL@

-- The per cent in a comment such as "io=20" or "test; io=20, mine"; nil if there is none.
local function asked(comment)
    if type(comment) ~= "string" then return nil end
    local found = string.match(" " .. comment, "[%s;,]io=(%d+)")
    local percent = tonumber(found or "")
    if percent == nil or percent < 1 then return nil end
    return math.min(percent, 100)
end

local function advise(job_desc)
    local percent = asked(job_desc.comment)
    if percent == nil then return end
    local licenses = job_desc.licenses
    if type(licenses) == "string" and string.find("," .. licenses .. ",", "[,|]" .. LICENSE .. "[^%w_]") then return end
    local wanted = LICENSE .. ":" .. string.format("%d", math.max(1, math.floor(percent * TOTAL / 100)))
    if type(licenses) == "string" and licenses ~= "" then wanted = licenses .. "," .. wanted end
    job_desc.licenses = wanted
    job_desc.admin_comment = "penstock: " .. wanted
end

function slurm_job_submit(job_desc, part_list, submit_uid)
    pcall(advise, job_desc)
    return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
    return slurm.SUCCESS
end

return slurm.SUCCESS
