-- What was answered with --always is about exactly that line, and exactly that file: a line was
-- kept as the beginning of any, and what stands in brackets in a file's name as a pattern.

UPDATE rules SET subject = 'line'
    WHERE subject = 'command' AND note GLOB 'answered request * with --always';

UPDATE rules SET pattern = replace(replace(replace(pattern, '[', '[[]'), '*', '[*]'), '?', '[?]')
    WHERE subject = 'path' AND note GLOB 'answered request * with --always';
